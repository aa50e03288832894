import { stat } from 'node:fs/promises'

/** Notices that the file of the running program was replaced, e.g. by `apt install` in a terminal. The program goes on, but starts its further processes from the new files. */
export class ReplacedProgram {
  readonly #path: string
  #first: string | undefined
  #last: string | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Looks at the file. Resolves to true once it is another one than at the first look, and the same as at the last: whoever replaced it is done. */
  async look(): Promise<boolean> {
    const before = this.#last
    const now = await stat(this.#path).then(
      ({ dev, ino, size, mtimeMs }) => [dev, ino, size, mtimeMs].join(' '),
      () => undefined,
    )
    this.#last = now
    this.#first ??= now
    return now !== undefined && now !== this.#first && now === before
  }
}
