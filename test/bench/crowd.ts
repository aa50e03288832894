import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Viewing, ViewersRequest, ViewersSeen } from './whep-viewers.ts'

/** Niceness of viewers, which leaves the processor to the servers: on other machines they would take nothing from them. */
export const viewersNice = 10

/** Viewers in a process of their own. */
export class Crowd implements Disposable {
  readonly #child: ChildProcess
  readonly #ended: Promise<never>

  /** @param token empty: none */
  constructor(url: string, token: string, viewing: Viewing = 'counted') {
    this.#child = fork(join(import.meta.dirname, 'whep-viewers.ts'), [url, token, viewing], { stdio: 'inherit' })
    if (this.#child.pid !== undefined) setPriority(this.#child.pid, viewersNice)
    this.#ended = once(this.#child, 'exit').then(() => {
      throw new Error('the viewers ended')
    })
    this.#ended.catch(() => {
      // Only the race awaits it.
    })
  }

  /** Resolves when the request is done. @throws Error if a viewer could not connect, or the viewers ended */
  async ask(request: ViewersRequest): Promise<ViewersSeen> {
    const seen = await this.attempt(request)
    const [failure] = seen.failures
    if (failure !== undefined) throw new Error(failure)
    return seen
  }

  /** Resolves when the request is done, even if some could not connect. @throws Error if the viewers ended */
  async attempt(request: ViewersRequest): Promise<ViewersSeen> {
    this.#child.send(request)
    const [seen] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [ViewersSeen]
    return seen
  }

  [Symbol.dispose](): void {
    this.#child.kill()
  }
}
