import { expect, test, vi } from 'vitest'
import { postgresOfFile } from '../drivers.ts'
import { siteOfControllers, times } from '../../../support/sites/member-site.ts'
import { temporaryStore } from '../../../support/sites/store-site.ts'

const postgres = postgresOfFile()

test('A leader that is cut off loses its lease by itself, without news of another leader', async () => {
  const site = await siteOfControllers(await postgres())
  const first = await site.controller('first', { askOthers: () => Promise.reject(new Error('cut off')) })
  const { leadership } = await first.lead()
  const changes: boolean[] = []
  leadership.onChange((isHeld) => changes.push(isHeld))
  const signal = leadership.signal()
  expect([leadership.isHeld, signal.aborted]).toEqual([true, false])
  const second = await site.controller('second')
  const next = second.lead()
  first.proxy.freeze(true)
  const frozenAt = performance.now()
  await vi.waitFor(() => expect(changes).toEqual([false]), { timeout: 5_000 })
  expect(performance.now() - frozenAt).toBeGreaterThan(times.lease - times.prove - times.renew)
  expect([leadership.isHeld, signal.aborted, leadership.signal().aborted]).toEqual([false, true, true])
  const taken = (await next).leadership
  // A busy machine proves a short lease late.
  await expect.poll(() => taken.isHeld).toBe(true)
  first.proxy.freeze(false)
  await expect(first.led?.fenced).resolves.toBeInstanceOf(Error)
  await expect(Promise.resolve(leadership.confirmed())).rejects.toThrow('another controller leads')
  expect(changes).toEqual([false])
})

test('An ended lease returns with the next proof, and a shorter pause does not end it', async () => {
  const site = await siteOfControllers(await postgres())
  // Long enough that a busy machine does not end it.
  const lease = 2_000
  const only = await site.controller('only', {
    askOthers: () => Promise.reject(new Error('cut off')),
    times: { ...times, lease },
  })
  const { leadership } = await only.lead()
  const changes: boolean[] = []
  leadership.onChange((isHeld) => changes.push(isHeld))
  const before = leadership.signal()
  only.proxy.freeze(true)
  // Reads wait, and the lease lasts.
  await vi.waitFor(() => expect(leadership.confirmed()).toBeInstanceOf(Promise))
  expect([leadership.isHeld, changes]).toEqual([true, []])
  only.proxy.freeze(false)
  await leadership.confirmed()
  expect([before.aborted, changes]).toEqual([false, []])
  only.proxy.freeze(true)
  const frozenAt = performance.now()
  await vi.waitFor(() => expect(changes).toEqual([false]), { timeout: 8_000 })
  expect(performance.now() - frozenAt).toBeGreaterThan(lease - times.prove - times.renew)
  only.proxy.freeze(false)
  // On a busy machine the lease may lapse again meanwhile.
  await vi.waitFor(() => expect(changes.slice(0, 2)).toEqual([false, true]), { timeout: 5_000 })
  const state = (): boolean[] => [before.aborted, leadership.signal().aborted, leadership.isHeld]
  await vi.waitFor(() => expect(state()).toEqual([true, false, true]), { timeout: 5_000 })
  expect(changes).toEqual(changes.map((_, index) => index % 2 === 1))
})

test('No other controller can lead a site in files: its view is available at once', async () => {
  const { store } = await temporaryStore()
  const { leadership } = store
  expect(leadership.confirmed()).toBe(store)
  expect([leadership.isHeld, leadership.signal().aborted]).toEqual([true, false])
})
