import { beforeEach, expect, test, vi } from 'vitest'
import { Lifetime } from '../../../server/media/base/lifetime.ts'

beforeEach(() => void vi.useFakeTimers())

test('timers and handlers run during the lifetime; after its end nothing runs or remains', () => {
  const seen: string[] = []
  const lifetime = new Lifetime((error) => seen.push(String(error)))
  const handler = lifetime.guard((text: string) => seen.push(text))
  lifetime.after(10, () => seen.push('once'))
  lifetime.every(10, () => seen.push('again'))
  lifetime.after(10, () => seen.push('called off'))()
  handler('heard')
  vi.advanceTimersByTime(20)
  expect(seen).toEqual(['heard', 'once', 'again', 'again'])
  lifetime.after(10, () => seen.push('late'))
  lifetime.onEnd(() => seen.push('released'))
  lifetime.end()
  lifetime.end()
  handler('too late')
  vi.advanceTimersByTime(100)
  expect(seen.slice(4)).toEqual(['released'])
  expect(lifetime.over).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('nothing can be added after the end: a timer never runs, a resource is released at once', () => {
  const seen: string[] = []
  const lifetime = new Lifetime(() => {})
  lifetime.end()
  lifetime.after(1, () => seen.push('timer'))()
  lifetime.after(1, () => seen.push('timer'))
  lifetime.every(1, () => seen.push('interval'))
  lifetime.onEnd(() => seen.push('released'))
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(10)
  expect(seen).toEqual(['released'])
})

test('an error in a handler, a timer or a release is reported and stops nothing else', () => {
  const failures: unknown[] = []
  const lifetime = new Lifetime((error) => failures.push(error))
  const released = vi.fn()
  const fail = (text: string) => () => {
    throw new Error(text)
  }
  lifetime.guard(fail('handler'))()
  lifetime.after(1, fail('timer'))
  lifetime.onEnd(fail('release'))
  lifetime.onEnd(released)
  vi.advanceTimersByTime(1)
  lifetime.end()
  expect(failures).toEqual([new Error('handler'), new Error('timer'), new Error('release')])
  expect(released).toHaveBeenCalledOnce()
})
