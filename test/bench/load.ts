import autocannon from 'autocannon'

/** Results of a load run: rounds, rounds per second, time of a round in milliseconds, and unexpected answers. */
export interface Load {
  rounds: number
  rate: number
  median: number
  p99: number
  failures: number
}

/** A path to read, or a body to post to the address itself. */
export type Asked = string | { body: string }

/** One request of a round. */
export interface Step {
  /** @param before answers of this round so far, in order */
  ask(before: readonly string[]): Asked
  expected(answer: string): boolean
}

export const connections = 32
/** Duration of each run, in seconds. */
export const seconds = Number(process.env.BENCH_SECONDS ?? 10)

/** Loads one URL with 32 connections; calls `asked` for each request. */
export async function load(
  base: string,
  asked: () => Asked,
  expected: (body: string) => boolean,
  duration = seconds,
): Promise<Load> {
  return await loadRounds(base, [{ ask: asked, expected }], duration)
}

/** Loads with rounds of several requests: each connection waits for every answer. */
export async function loadRounds(base: string, steps: readonly Step[], duration = seconds): Promise<Load> {
  let failures = 0
  const took: number[] = []
  const result = await autocannon({
    url: base,
    connections,
    duration,
    requests: steps.map(({ ask, expected }, index) => ({
      method: 'GET',
      setupRequest: (request, context) => {
        const round = context as Round
        if (index === 0) Object.assign(round, { began: performance.now(), answers: [] } satisfies Round)
        const asked = ask(round.answers)
        return typeof asked === 'string'
          ? { ...request, path: asked }
          : { ...request, method: 'POST', body: asked.body }
      },
      onResponse: (_status, body, context) => {
        const { answers, began } = context as Round
        if (!expected(body)) failures++
        answers.push(body)
        if (index === steps.length - 1) took.push(performance.now() - began)
      },
    })),
  })
  took.sort((one, other) => one - other)
  const after = (share: number): number => Math.round((took[Math.floor(took.length * share)] ?? 0) * 100) / 100
  return {
    rounds: took.length,
    rate: took.length / result.duration,
    median: after(0.5),
    p99: after(0.99),
    failures: failures + result.errors + result.non2xx,
  }
}

/** State of a connection in its round. */
interface Round {
  began: number
  answers: string[]
}

const ok = (answer: string): boolean => answer.startsWith('{"ret":0')
const roomOf = ([made = '']: readonly string[]): string => /"room_id":"(\d+)"/.exec(made)?.[1] ?? ''

/**
 * Creates rooms and deletes them again.
 * @param between path of a request for each room in between
 */
export async function createAndDelete(
  base: string,
  token: string,
  { between, duration }: { between?: (room: string) => string; duration?: number } = {},
): Promise<Load> {
  const create = `/rtc/room/create?topic=Morning&owner_id=o1&room_mode=1&access_token=${token}`
  const steps: Step[] = [
    { ask: () => create, expected: ok },
    { ask: (before) => `/rtc/room/del?room_id=${roomOf(before)}&access_token=${token}`, expected: ok },
  ]
  if (between !== undefined) steps.splice(1, 0, { ask: (before) => between(roomOf(before)), expected: ok })
  return await loadRounds(base, steps, duration)
}
