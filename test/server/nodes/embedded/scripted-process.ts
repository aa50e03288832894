import type { MediaProcess } from '../../../../server/nodes/embedded/media-process.ts'
import type { ControlMessage } from '../../../../shared/media/control-link.ts'

/** A process with messages given by the test, including some that the real one never sends. */
export class ScriptedProcess implements MediaProcess {
  readonly pid = 1
  readonly sent: ControlMessage[] = []
  killed = false
  /** Answers a message. */
  answers: (message: ControlMessage) => void = () => {}
  #receive: (message: unknown) => void = () => {}
  #exit: (why: string) => void = () => {}

  send(message: ControlMessage): void {
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

  says(message: ControlMessage | Record<string, unknown>): void {
    this.#receive(message)
  }
  ends(why: string): void {
    this.#exit(why)
  }
}
