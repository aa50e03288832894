import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ControlLink, type ControlMessage, type ControlHandlers } from '../../../shared/media/control-link.ts'

const questions = {
  add: { params: z.strictObject({ one: z.int(), other: z.int() }), result: z.int() },
  confirm: { params: z.strictObject({}), result: z.undefined() },
  wait: { params: z.strictObject({}), result: z.int() },
  noted: { params: z.strictObject({ text: z.string() }) },
}
const nothing = {}

/** Connects two ends. @returns the asking end, and what the other end reported */
function connected(handlers: Partial<ControlHandlers<typeof questions>>) {
  const reports: string[] = []
  const link = { isBroken: false }
  const errors = {
    describe: (error: unknown) => ({ reason: 'other', message: String(error) }) as const,
    errorOf: ({ message }: { message: string }) => new Error(message),
    report: (event: string) => void reports.push(event),
  }
  const asking = new ControlLink<typeof questions, typeof nothing>({
    ...{ sends: questions, receives: nothing, handlers: {}, ...errors },
    port: {
      send(message: ControlMessage) {
        if (link.isBroken) throw new Error('the pipe is broken')
        answering.receive(structuredClone(message))
      },
    },
  })
  const answering = new ControlLink<typeof nothing, typeof questions>({
    ...{ sends: nothing, receives: questions, handlers, ...errors },
    port: { send: (message: ControlMessage) => asking.receive(structuredClone(message)) },
  })
  return { asking, reports, link }
}

const patient = () => new AbortController().signal

describe('The controller and a media program', () => {
  test('answer requests, also those that only confirm', async () => {
    const { asking } = connected({ add: ({ one, other }) => one + other, confirm: () => undefined })
    expect(await asking.request('add', { one: 1, other: 2 }, patient())).toBe(3)
    expect(await asking.request('confirm', {}, patient())).toBeUndefined()
  })

  test('fail a request whose handler throws or is missing, and continue', async () => {
    const { asking } = connected({
      add: () => {
        throw new Error('no room left')
      },
    })
    await expect(asking.request('add', { one: 1, other: 2 }, patient())).rejects.toThrow('no room left')
    await expect(asking.request('wait', {}, patient())).rejects.toThrow('there is no handler for wait')
  })

  test('fail a request whose answer is malformed', async () => {
    const { asking } = connected({ add: () => 1.5 })
    await expect(asking.request('add', { one: 1, other: 2 }, patient())).rejects.toThrow(
      'the answer to add is malformed',
    )
  })

  test('cancel a request whose caller gave up, and report a late success to the caller', async () => {
    const handled = Promise.withResolvers<number>()
    let cancelled: AbortSignal | undefined
    const { asking } = connected({
      wait: (_params, signal) => {
        cancelled = signal
        return handled.promise
      },
    })
    const caller = new AbortController()
    const tooLate = Promise.withResolvers<void>()
    const answer = asking.request('wait', {}, caller.signal, tooLate.resolve)
    caller.abort(new Error('10 s are over'))
    await expect(answer).rejects.toThrow('10 s are over')
    expect(cancelled?.aborted).toBe(true)
    handled.resolve(1)
    await tooLate.promise
  })

  test('report messages that they do not support', () => {
    const noted: string[] = []
    const { asking, reports } = connected({ noted: ({ text }) => void noted.push(text) })
    asking.notify('noted', { text: 'hello' })
    asking.receive({ type: 'greeting' })
    expect(noted).toEqual(['hello'])
    expect(reports).toEqual(['a message is malformed'])
  })

  test('count no unsent request as unanswered', async () => {
    const { asking, link } = connected({ confirm: () => undefined })
    link.isBroken = true
    const unsent = await Promise.allSettled(
      Array.from({ length: 10_000 }, () => asking.request('confirm', {}, patient())),
    )
    expect(unsent.every(({ status }) => status === 'rejected')).toBe(true)
    link.isBroken = false
    expect(await asking.request('confirm', {}, patient())).toBeUndefined()
  })

  test('fail unanswered requests when the process exits', async () => {
    const { asking } = connected({ wait: () => new Promise(() => {}) })
    const answer = asking.request('wait', {}, patient())
    asking.close(new Error('the process ended'))
    await expect(answer).rejects.toThrow('the process ended')
    await expect(asking.request('wait', {}, patient())).rejects.toThrow('the process ended')
  })
})
