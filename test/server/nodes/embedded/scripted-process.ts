import type { MediaProcess } from '../../../../server/nodes/embedded/media-process.ts'
import type { FromNode, ToNode } from '../../../../shared/media/control.ts'

/** A process with messages given by the test, including some that the real one never sends. */
export class ScriptedProcess implements MediaProcess {
  readonly pid = 1
  readonly sent: ToNode[] = []
  killed = false
  /** Answers a message. */
  answers: (message: ToNode) => void = () => {}
  #receive: (message: unknown) => void = () => {}
  #exit: (why: string) => void = () => {}

  send(message: ToNode): void {
    this.sent.push(message)
    this.answers(message)
  }
  onMessage(listener: (message: unknown) => void): void {
    this.#receive = listener
  }
  onExit(listener: (why: string) => void): void {
    this.#exit = listener
  }
  kill(): void {
    if (this.killed) return
    this.killed = true
    queueMicrotask(() => this.ends('it was ended by SIGKILL'))
  }

  says(message: FromNode | Record<string, unknown>): void {
    this.#receive(message)
  }
  ends(why: string): void {
    this.#exit(why)
  }
}
