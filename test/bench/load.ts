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
export async function load(
  base: string,
  paths: () => string,
  expected: (body: string) => boolean,
  duration = seconds,
): Promise<Load> {
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
          if (!expected(body)) failures++
        },
      },
    ],
  })
  const result = await instance
  return {
    rate: result.requests.total / result.duration,
    p99: result.latency.p99,
    failures: failures + result.errors + result.non2xx,
  }
}

/** Rooms created and deleted again: `rate` counts pairs, each connection waits for both answers. */
export async function createAndDelete(base: string, token: string): Promise<Load> {
  let failures = 0
  let pairs = 0
  const result = await autocannon({
    url: base,
    connections,
    duration: seconds,
    requests: [
      {
        method: 'GET',
        path: `/rtc/room/create?topic=Morning&owner_id=o1&room_mode=1&access_token=${token}`,
        onResponse: (_status, body, context) => {
          Object.assign(context, { room: /"room_id":"(\d+)"/.exec(body)?.[1] })
        },
      },
      {
        method: 'GET',
        setupRequest: (request, context) => {
          const room = 'room' in context ? String(context.room) : ''
          return { ...request, path: `/rtc/room/del?room_id=${room}&access_token=${token}` }
        },
        onResponse: (_status, body) => {
          if (body.startsWith('{"ret":0')) pairs++
          else failures++
        },
      },
    ],
  })
  return { rate: pairs / result.duration, p99: result.latency.p99, failures: failures + result.errors + result.non2xx }
}
