// A Worker that asks sluicegate itself, where a rule by method and path is not enough: here a report costs
// as many units as it has pages, and the units belong to the customer.

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const customer = request.headers.get('x-customer');
    if (!customer) return new Response('who are you?\n', { status: 400 });
    const pages = Number(url.searchParams.get('pages') ?? 1);

    const answer = await env.SLUICEGATE.fetch('https://sluicegate/v1/check', {
      method: 'POST',
      headers: { authorization: `Bearer ${env.SLUICEGATE_TOKEN}` },
      body: JSON.stringify({ limits: [{ policy: 'pages', key: customer, cost: pages }] }),
    });
    if (answer.status === 422) return answer; // a bad number of pages, named
    const { allowed, results } = await answer.json();
    if (!allowed) {
      const headers = new Headers({ 'content-type': 'text/plain' });
      const wait = answer.headers.get('retry-after');
      if (wait) headers.set('retry-after', wait);
      return new Response(`no: ${results[0].refusal}\n`, { status: answer.status, headers });
    }
    return new Response(`${pages} pages for ${customer}, ${results[0].remaining} left\n`);
  },
};
