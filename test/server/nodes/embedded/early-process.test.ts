import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import { forkMediaProcess } from '../../../../server/nodes/embedded/fork-process.ts'
import { EarlyProcess, type MediaProcess } from '../../../../server/nodes/embedded/media-process.ts'
import { mediaProgram } from '../../../support/media/media-program.ts'

/** Real processes of the node; `begun` resolves with the first message of the first one. */
function earlyProcess(): { early: EarlyProcess; started: MediaProcess[]; begun: Promise<unknown> } {
  const spawn = forkMediaProcess(mediaProgram)
  const begun = Promise.withResolvers<unknown>()
  const started: MediaProcess[] = []
  const early = new EarlyProcess(() => {
    const process = spawn()
    started.push(process)
    return process
  })
  const onChild = (event: unknown): void =>
    void (event as { process: ChildProcess }).process.once('message', begun.resolve)
  subscribe('child_process', onChild)
  onTestFinished(() => {
    unsubscribe('child_process', onChild)
    started.forEach((process) => process.kill())
  })
  early.begin()
  return { early, started, begun: begun.promise }
}

const messageOf = (process: MediaProcess): Promise<unknown> => new Promise((resolve) => process.onMessage(resolve))
const gone = ({ pid }: MediaProcess): boolean => pid === undefined

test('A process that started early greets the first client that takes it, once; the next client gets another process', async () => {
  const { early, started, begun } = earlyProcess()
  expect(await begun).toMatchObject({ method: 'hello' })
  const taken = early.take()
  expect(await messageOf(taken)).toMatchObject({ method: 'hello' })
  expect(taken.pid).toBe(started[0]?.pid)
  const exited = new Promise<string>((resolve) => taken.onExit(resolve))
  early.release()
  const next = early.take()
  expect(await messageOf(next)).toMatchObject({ method: 'hello' })
  expect(next.pid).not.toBe(taken.pid)
  taken.send({ type: 'notification', method: 'stop', params: {} })
  expect(await exited).toBe('it ended with exit code 0')
})

test('A process that is not taken exits; one that exited before is not handed out', async () => {
  const { early, started, begun } = earlyProcess()
  await begun
  early.release()
  const [first] = started
  await expect.poll(() => first && gone(first)).toBe(true)
  early.begin()
  const second = started[1]
  second?.kill()
  await expect.poll(() => second && gone(second)).toBe(true)
  expect(await messageOf(early.take())).toMatchObject({ method: 'hello' })
  expect(started).toHaveLength(3)
})
