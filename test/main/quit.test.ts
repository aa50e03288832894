import { EventEmitter } from 'node:events'
import { app, powerMonitor } from 'electron'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Quit } from '../../main/quit.ts'

const logger = pino({ level: 'silent' })
/** Number of final quits of the app. */
let quits: number

beforeEach(() => {
  vi.useFakeTimers()
  quits = 0
  vi.spyOn(app, 'quit').mockImplementation(() => void (quits += 1))
})
afterEach(() => {
  app.removeAllListeners('before-quit')
  app.removeAllListeners('browser-window-created')
  powerMonitor.removeAllListeners('shutdown')
  powerMonitor.removeAllListeners('resume')
})

function shownWindow(isVisible: boolean): EventEmitter & { isVisible: () => boolean } {
  return Object.assign(new EventEmitter(), { isVisible: () => isVisible })
}

/** Asks to quit like Electron; true if the app may end now. */
function ask(): boolean {
  let allowed = true
  app.emit('before-quit', { preventDefault: () => (allowed = false) })
  return allowed
}

test('the app ends once the controller has stopped, and a second request does not stop it twice', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = vi.fn(() => promise)
  const quit = new Quit(stop, logger)
  expect(quit.isQuitting).toBe(false)
  expect([ask(), ask()]).toEqual([false, false])
  expect(quit.isQuitting).toBe(true)
  expect(stop).toHaveBeenCalledOnce()
  expect(quits).toBe(0)
  resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(quits).toBe(1)
  expect(ask()).toBe(true)
})

test('a controller that never stops does not keep the app alive for ever', async () => {
  new Quit(() => new Promise(() => undefined), logger)
  expect(ask()).toBe(false)
  await vi.advanceTimersByTimeAsync(11_000)
  expect(quits).toBe(0)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(quits).toBe(1)
  expect(ask()).toBe(true)
})

test('when Windows logs the operator off while the window is shown, the app asks for time, and ends once the controller has stopped', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const quit = new Quit(() => promise, logger)
  vi.mocked(app.quit).mockImplementation(() => void (ask() && (quits += 1)))
  quit.followShutdown()
  const window = shownWindow(true)
  app.emit('browser-window-created', {}, window)
  const event = { preventDefault: vi.fn(), reasons: ['logoff'] }
  window.emit('query-session-end', event)
  expect(event.preventDefault).toHaveBeenCalledOnce()
  expect([quit.isQuitting, quits]).toEqual([true, 0])
  resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(quits).toBe(1)
})

test('when Windows logs the operator off while the app is in the tray, it flushes at once and does not ask for time: Windows would kill it', () => {
  const stop = vi.fn(() => Promise.resolve())
  const quit = new Quit(stop, logger)
  vi.mocked(app.quit).mockImplementation(() => void (ask() && (quits += 1)))
  quit.followShutdown()
  const window = shownWindow(false)
  app.emit('browser-window-created', {}, window)
  const event = { preventDefault: vi.fn(), reasons: ['logoff'] }
  window.emit('query-session-end', event)
  // Another program may still keep the session: the controller goes on until it ends for certain.
  expect([event.preventDefault.mock.calls.length, stop.mock.calls.length]).toEqual([0, 0])
  window.emit('session-end', event)
  expect([event.preventDefault.mock.calls.length, stop.mock.calls.length]).toEqual([0, 1])
})

test('a controller that fails to stop does not keep the app alive either', async () => {
  new Quit(() => Promise.reject(new Error('disk gone')), logger)
  ask()
  await vi.advanceTimersByTimeAsync(0)
  expect(quits).toBe(1)
})

test.each(['before', 'after'])(
  'a controller that hangs does not keep the app beyond the time that logind gives at a shutdown, asked to quit %s it',
  async (order) => {
    const { _maxDelayMs: givenMs } = powerMonitor as unknown as { _maxDelayMs: number }
    vi.spyOn(process, 'platform', 'get').mockReturnValue('linux')
    vi.mocked(app.quit).mockImplementation(() => void (ask() && (quits += 1)))
    new Quit(() => new Promise(() => undefined), logger).followShutdown()
    const shutDown = (): unknown => powerMonitor.emit('shutdown', { preventDefault: () => undefined })
    if (order === 'before') ask()
    shutDown()
    if (order === 'after') ask()
    await vi.advanceTimersByTimeAsync(givenMs - 500)
    expect(quits).toBe(1)
  },
)

test('a shutdown of the machine waits until the site is on the disk', () => {
  // The stand-in's own API: a process without listeners, and whether the system is asked to wait.
  const standin = powerMonitor as unknown as { _begin: () => void; _delaysShutdown: boolean }
  standin._begin()
  new Quit(() => Promise.resolve(), logger).followShutdown()
  expect(standin._delaysShutdown).toBe(true)
  let waits = false
  powerMonitor.emit('shutdown', { preventDefault: () => (waits = true) })
  expect([waits, quits]).toEqual([true, 1])
})
