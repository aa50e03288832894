import type { Writable } from 'node:stream'

/** Milliseconds without progress after which a program counts as stuck. */
const stuckMs = 20_000

/** Writes to the input of a program, as fast as it reads. @throws Error when it is gone or stuck */
export async function writeToProgram(input: Writable, bytes: Uint8Array): Promise<void> {
  if (input.destroyed || input.writableEnded) throw new Error('the reader of the stream is gone')
  if (input.write(bytes)) return
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer)
      input.off('drain', onDrain).off('close', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onDrain = (): void => settle()
    const onClose = (): void => settle(new Error('the reader of the stream is gone'))
    const timer = setTimeout(() => settle(new Error('the reader of the stream is stuck')), stuckMs)
    input.once('drain', onDrain).once('close', onClose)
  })
}
