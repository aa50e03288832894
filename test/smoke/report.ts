import { writeFileSync } from 'node:fs'

/** Verdict of an item: passes, fails, needs a person (who was not asked), or does not apply here. */
export type Verdict = 'PASS' | 'FAIL' | 'ASK' | 'SKIP'

/** One line of the result. */
export interface Item {
  /** Its part and its own name, e.g. `app.origin`. */
  name: string
  verdict: Verdict
  /** Finding, or reason. */
  detail: string
  milliseconds: number
}

/** Options of a report. */
export interface ReportOptions {
  print: (line: string) => void
  /** Names of parts (`app`) or items (`app.origin`); empty: all. */
  only?: readonly string[]
  /** Printed after each verdict if the result is not of the real app. */
  mark?: string
}

/** Time limit of an item, in milliseconds. */
const patienceMs = 90_000

/** A check that is impossible on this machine, with the reason. */
export class NotHere extends Error {
  override readonly name = 'NotHere'
}

/** Runs items one after the other, prints a line for each, and stores them. */
export class Report {
  readonly items: Item[] = []
  readonly #options: ReportOptions

  constructor(options: ReportOptions) {
    this.#options = options
  }

  /** Tells whether a part, or an item of it, was requested. */
  wants(name: string): boolean {
    const { only = [] } = this.#options
    return (
      only.length === 0 ||
      only.some((word) => name === word || name.startsWith(`${word}.`) || word.startsWith(`${name}.`))
    )
  }

  /**
   * Runs one item, if it was requested.
   * @param look resolves to the finding; rejects with the problem, or with {@link NotHere}
   * @returns whether it passes; true if it was not requested
   */
  async check(name: string, look: () => Promise<string>, limitMs = patienceMs): Promise<boolean> {
    if (!this.wants(name)) return true
    return (await this.prepare(name, look, limitMs)) !== undefined
  }

  /** Like {@link check}, for prerequisites: always runs, and is printed only on failure or request. */
  async prepare<T>(name: string, make: () => Promise<T>, limitMs = patienceMs): Promise<T | undefined> {
    const began = performance.now()
    const tell = (verdict: Verdict, detail: string): void =>
      this.tell({ name, verdict, detail, milliseconds: Math.round(performance.now() - began) })
    try {
      const made = await withLimit(make(), limitMs)
      if (this.wants(name)) tell('PASS', typeof made === 'string' ? made : '')
      return made
    } catch (error) {
      if (error instanceof NotHere) tell('SKIP', error.message)
      else tell('FAIL', describe(error))
      return undefined
    }
  }

  /** Reports a skipped item, if it was requested. */
  skip(name: string, why: string): void {
    if (this.wants(name)) this.tell({ name, verdict: 'SKIP', detail: why, milliseconds: 0 })
  }

  /** Tells whether an item of a part has failed. */
  hasFailed(part: string): boolean {
    return this.items.some(({ name, verdict }) => verdict === 'FAIL' && name.startsWith(`${part}.`))
  }

  /** Prints a line that is not an item. */
  note(line: string): void {
    this.#options.print(`      ${line}`)
  }

  /** Adds a finished item, and prints it. */
  tell(item: Item): void {
    this.items.push(item)
    const { print, mark } = this.#options
    const [first = '', ...more] = item.detail.split('\n')
    print(
      `${item.verdict.padEnd(4)}  ${item.name}${mark === undefined ? '' : ` (${mark})`}${first === '' ? '' : `: ${first}`}`,
    )
    for (const line of more) print(`      ${line}`)
  }

  /** Summary line: the number of each verdict. */
  summary(): string {
    const count = (wanted: Verdict): number => this.items.filter(({ verdict }) => verdict === wanted).length
    return `${count('PASS')} passed, ${count('FAIL')} failed, ${count('ASK')} to ask a person, ${count('SKIP')} not possible here`
  }

  /** 1 if an item failed, or none ran. */
  get exitCode(): 0 | 1 {
    return this.items.length === 0 || this.items.some(({ verdict }) => verdict === 'FAIL') ? 1 : 0
  }

  /** Writes everything as JSON, with a description of the machine. */
  write(path: string, about: Readonly<Record<string, string>>): void {
    const { mark } = this.#options
    const content = {
      ...about,
      ...(mark === undefined ? {} : { on: mark }),
      summary: this.summary(),
      items: this.items,
    }
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`)
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\n${describe(error.cause)}`
  return `${error.message}${cause}`
}

async function withLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`nothing came of it within ${limitMs / 1_000} s`)), limitMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
