import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SignalClient } from '../../../renderer/room-page/session/signal-client.ts'

/** Connections of the page, as the browser makes them. */
class FakeSocket extends EventTarget {
  static readonly OPEN = 1
  static all: FakeSocket[] = []
  readonly sent: string[] = []
  readyState = 0
  constructor() {
    super()
    FakeSocket.all.push(this)
  }
  open(): void {
    this.readyState = FakeSocket.OPEN
    this.dispatchEvent(new Event('open'))
  }
  receive(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }))
  }
  send(text: string): void {
    this.sent.push(text)
  }
  close(): void {
    if (this.readyState === 3) return
    this.readyState = 3
    this.dispatchEvent(new Event('close'))
  }
}

const ended = vi.fn()
let client: SignalClient
beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', FakeSocket)
  FakeSocket.all = []
  ended.mockReset()
  const ignore = (): void => {}
  const listener = {
    joined: ignore,
    waiting: ignore,
    message: ignore,
    lost: ignore,
    failed: ignore,
    moved: ignore,
    ended,
  }
  const request = { roomId: '7', token: 't', hostPassword: '', userName: 'Guest' }
  client = new SignalClient('http://node', request, listener, () => '')
  latest().open()
  latest().receive({ type: 'waiting', topic: '', host_here: false })
})
afterEach(() => {
  client.leave()
})

const latest = (): FakeSocket => FakeSocket.all.at(-1) ?? new FakeSocket()
const answer = (): void => latest().receive({ type: 'pong', id: 1 })
/** The page sleeps: no timer runs meanwhile. */
function sleep(milliseconds: number): void {
  vi.setSystemTime(Date.now() + milliseconds)
  vi.advanceTimersByTime(3_000)
}

test('a guest in a hidden tab, whose timers run once a minute, keeps the connection for an hour', () => {
  for (let minute = 0; minute < 60; minute += 1) {
    sleep(57_000)
    expect(latest().sent.at(-1)).toContain('ping')
    answer()
  }
  expect(FakeSocket.all).toHaveLength(1)
})

test('a connection that is dead after a night is replaced within seconds, and time asleep is not time offline', () => {
  sleep(8 * 3_600_000)
  vi.advanceTimersByTime(4_000)
  expect(FakeSocket.all.length).toBeGreaterThan(1)
  for (const socket of FakeSocket.all.slice(1)) socket.close()
  sleep(8 * 3_600_000)
  vi.advanceTimersByTime(30_000)
  expect(ended).not.toHaveBeenCalled()
  latest().open()
  latest().receive({ type: 'waiting', topic: '', host_here: false })
  expect(ended).not.toHaveBeenCalled()
})

test('a connection that falls silent while the page is awake is replaced after 8 s, and given up after 90 s without one', () => {
  vi.advanceTimersByTime(12_000)
  expect(FakeSocket.all.length).toBeGreaterThan(1)
  for (let second = 0; second < 200 && ended.mock.calls.length === 0; second += 1) {
    latest().close()
    vi.advanceTimersByTime(1_000)
  }
  expect(ended).toHaveBeenCalledWith({ reason: 'lost', message: '' })
})
