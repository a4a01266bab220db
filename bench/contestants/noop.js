// (a) A worker that decides nothing: what the runtime itself costs.

export default {
  fetch() {
    return new Response('ok\n');
  },
};
