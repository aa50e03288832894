import autocannon from 'autocannon'

/** What a load run measured: requests a second, p99 in milliseconds, and answers that were not what was expected. */
export interface Load {
  rate: number
  p99: number
  failures: number
}

export const connections = 32
/** Seconds of each run. */
export const seconds = Number(process.env.BENCH_SECONDS ?? 10)

/** Loads one URL with 32 connections; `paths` is asked for each request in turn. */
export async function load(base: string, paths: () => string, expected: (body: string) => boolean, duration = seconds): Promise<Load> {
  let failures = 0
  const instance = autocannon({
    url: base,
    connections,
    duration,
    requests: [
      {
        method: 'GET',
        setupRequest: (request) => ({ ...request, path: paths() }),
        onResponse: (_status, body) => {
          if (!expected(String(body))) failures++
        },
      },
    ],
  })
  const result = await instance
  return { rate: result.requests.total / result.duration, p99: result.latency.p99, failures: failures + result.errors + result.non2xx }
}
