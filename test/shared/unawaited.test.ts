import { expect, test, vi } from 'vitest'
import { inBackground, mustNotFail } from '../../shared/unawaited.ts'

test('Background work that fails is logged, and the process keeps running', async () => {
  const error = vi.fn()
  const failure = new Error('the disk is full')
  inBackground(Promise.reject(failure), 'an export could not be deleted', { error })
  await expect.poll(() => error.mock.calls).toEqual([[{ err: failure }, 'an export could not be deleted']])
})

test('Background work that must not fail passes its error to the crash guard of the process', async () => {
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  const { promise: uncaught, resolve } = Promise.withResolvers<Error>()
  process.once('uncaughtException', resolve)
  const failure = new Error('the lease is not renewed')
  mustNotFail(Promise.reject(failure))
  expect(await uncaught).toBe(failure)
  for (const listener of listeners) process.on('uncaughtException', listener)
})
