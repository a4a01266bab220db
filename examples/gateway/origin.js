// An API that knows nothing of limits. sluicegate stands in front of it, with this in its wrangler.toml:
//
//   [[services]]
//   binding = "ORIGIN"
//   service = "my-api"

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    return Response.json({ hello: pathname, from: 'my-api' });
  },
};
