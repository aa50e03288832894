import type { MediaProcess, SpawnMediaProcess } from './media-process.ts'

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
    this.#first ??= kept(this.#spawn(), () => {
      this.#first = undefined
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

/**
 * Wraps a process so that its messages are kept until a listener is registered.
 * @param exited called if the process exits before `onExit` registers a listener
 */
function kept(process: MediaProcess, exited: () => void): MediaProcess {
  const early: unknown[] = []
  let onMessage = (message: unknown): void => void early.push(message)
  let onExit: (why: string) => void = exited
  process.onMessage((message) => onMessage(message))
  process.onExit((why) => onExit(why))
  return {
    get pid() {
      return process.pid
    },
    send: (message) => process.send(message),
    onMessage(listener) {
      onMessage = listener
      early.splice(0).forEach(listener)
    },
    onExit(listener) {
      onExit = listener
    },
    kill: () => process.kill(),
  }
}
