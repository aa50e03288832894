import type { ControlMessage } from '../../../shared/media/control-link.ts'

/**
 * The process of the embedded node, for its controller: `child_process.fork` under Node, `utilityProcess` under
 * Electron.
 */
export interface MediaProcess {
  /** Process id; undefined before the process runs and after it has ended. */
  readonly pid: number | undefined
  /** Does nothing if the process has ended. */
  send(message: ControlMessage): void
  /**
   * Calls the listener with the data of GatheredMessages: one message or several. Messages received before the call are
   * delivered at once. A later listener replaces an earlier one.
   */
  onMessage(listener: (received: unknown) => void): void
  /**
   * Calls the listener once, also if the process could not be started. `why` is for the operator, e.g. `it ended with
   * exit code 1`. A later listener replaces an earlier one.
   */
  onExit(listener: (why: string) => void): void
  kill(): void
}

/** Messages of a process, which are kept until the first listener is set. */
export class KeptMessages {
  readonly #early: unknown[] = []
  #deliver = (message: unknown): void => void this.#early.push(message)

  receive(message: unknown): void {
    this.#deliver(message)
  }

  /** Delivers the kept messages at once, and all further ones. A later listener replaces an earlier one. */
  listen(listener: (message: unknown) => void): void {
    this.#deliver = listener
    this.#early.splice(0).forEach(listener)
  }
}

/** Starts the program of the embedded node. */
export type SpawnMediaProcess = () => MediaProcess

/**
 * Starts the first process of the embedded node in advance, so that it loads its code while the controller opens the
 * site.
 */
export class EarlyProcess {
  readonly #spawn: SpawnMediaProcess
  #first: MediaProcess | undefined

  constructor(spawn: SpawnMediaProcess) {
    this.#spawn = spawn
  }

  begin(): void {
    if (this.#first !== undefined) return
    const process = this.#spawn()
    this.#first = process
    process.onExit(() => {
      if (this.#first === process) this.#first = undefined
    })
  }

  /** Returns the process started in advance, once; starts a process on further calls. */
  readonly take: SpawnMediaProcess = () => {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#spawn()
  }

  /** Kills the process if it was not taken, because this site has no embedded node or another controller leads. */
  release(): void {
    this.#first?.kill()
    this.#first = undefined
  }
}
