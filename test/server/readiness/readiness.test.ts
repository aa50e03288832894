import { expect, test } from 'vitest'
import { type Checks, found, Readiness } from '../../../server/readiness/readiness.ts'

/** Checks with a limit of 50 ms, and what they log. */
function readinessOf(checks: Checks): { readiness: Readiness; logged: unknown[] } {
  const logged: unknown[] = []
  return {
    readiness: new Readiness(checks, { warn: (...line: unknown[]) => void logged.push(line) }, () => 50),
    logged,
  }
}

test('a check that throws is reported without secrets, one that hangs is reported, and the others answer', async () => {
  const aborted = Promise.withResolvers<void>()
  const { readiness, logged } = readinessOf({
    ffmpeg: async () => {
      throw new Error('cannot open rtsp://admin:geheim7@10.0.0.9/1')
    },
    clock: async (signal) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return await new Promise<never>(() => {})
    },
    tray: async () => found('trayShown'),
  })
  const results = await readiness.run()
  expect(results.map(({ check, state, finding }) => [check, state, finding])).toEqual([
    ['ffmpeg', 'unchecked', 'checkFailed'],
    ['clock', 'unchecked', 'checkTimedOut'],
    ['tray', 'good', 'trayShown'],
  ])
  expect(results[0]?.message).toMatch(/^The check failed: cannot open .*10\.0\.0\.9/)
  expect(JSON.stringify(results)).not.toContain('geheim7')
  expect(results[1]?.message).toBe('No answer within 1 s.')
  expect(logged).toHaveLength(1)
  await aborted.promise
})

test('checks run concurrently: the slowest decides how long all take', async () => {
  const started: string[] = []
  const all = Promise.withResolvers<void>()
  const together = (name: string) => async () => {
    started.push(name)
    if (started.length === 3) all.resolve()
    await all.promise
    return found('trayShown')
  }
  const { readiness } = readinessOf({ tray: together('tray'), disk: together('disk'), clock: together('clock') })
  expect((await readiness.run()).map(({ finding }) => finding)).toEqual(['trayShown', 'trayShown', 'trayShown'])
})

test('concurrent callers share a run, and a check that still hangs is not started again', async () => {
  let runs = 0
  const end = Promise.withResolvers<void>()
  const { readiness } = readinessOf({
    disk: async () => {
      runs += 1
      await end.promise
      return found('trayShown')
    },
  })
  const [one, other] = await Promise.all([readiness.run(['disk']), readiness.run(['disk'])])
  expect(one[0]?.finding).toBe('checkTimedOut')
  expect(other).toEqual(one)
  expect((await readiness.run(['disk']))[0]?.finding).toBe('checkTimedOut')
  expect(runs).toBe(1)
  end.resolve()
  await expect.poll(async () => (await readiness.run(['disk']))[0]?.finding).toBe('trayShown')
  expect(runs).toBe(2)
})

test('only checks of this machine run, whatever is requested', async () => {
  const { readiness } = readinessOf({ tray: async () => found('trayMissing') })
  expect(readiness.names).toEqual(['tray'])
  expect(await readiness.run(['disk'])).toEqual([])
  const [result] = await readiness.run(['disk', 'tray'])
  expect(result?.advice).toContain('AppIndicator')
})
