import type { MediaProcess, SpawnMediaProcess } from './media-process.ts'

/** Starts the first process of the embedded node before it is asked for: it loads its code while the controller opens the site. */
export class EarlyProcess {
  readonly #spawn: SpawnMediaProcess
  #first: MediaProcess | undefined

  constructor(spawn: SpawnMediaProcess) {
    this.#spawn = spawn
  }

  /** Starts it. */
  begin(): void {
    this.#first ??= kept(this.#spawn(), () => {
      this.#first = undefined
    })
  }

  /** Gives away the process that was begun, once, else starts one. */
  readonly take: SpawnMediaProcess = () => {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#spawn()
  }

  /** Ends the process if nobody took it: this site has no embedded node, or another controller leads. */
  release(): void {
    this.#first?.kill()
    this.#first = undefined
  }
}

/** Keeps messages until somebody listens. @param exited called when it exits before that */
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
