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
