import { writeFileSync } from 'node:fs'

/** What became of an item: it holds, it does not, only a person can tell (and was not asked), or it has no meaning here. */
export type Verdict = 'PASS' | 'FAIL' | 'ASK' | 'SKIP'

/** One line of the result. */
export interface Item {
  /** Its part and its own name, e.g. `app.origin`. */
  name: string
  verdict: Verdict
  /** What was found, or why not. */
  detail: string
  milliseconds: number
}

/** How a report is made. */
export interface ReportOptions {
  print: (line: string) => void
  /** Names of parts (`app`) or items (`app.origin`); none is all. */
  only?: readonly string[]
  /** Said after each verdict, where the result is not of the real thing. */
  mark?: string
}

/** Milliseconds after which an item that says nothing has failed. */
const patienceMs = 90_000

/** Something that is not there to be looked at on this machine, with the reason. */
export class NotHere extends Error {
  override readonly name = 'NotHere'
}

/** Runs items one after the other, prints a line for each, and keeps them. */
export class Report {
  readonly items: Item[] = []
  readonly #options: ReportOptions

  constructor(options: ReportOptions) {
    this.#options = options
  }

  /** Whether a part, or an item of it, was asked for. */
  wants(name: string): boolean {
    const { only = [] } = this.#options
    return (
      only.length === 0 ||
      only.some((word) => name === word || name.startsWith(`${word}.`) || word.startsWith(`${name}.`))
    )
  }

  /**
   * Runs one item, if it was asked for.
   * @param look resolves to what was found; rejects with what is wrong, or with {@link NotHere}
   * @returns whether it holds; true where it was not asked for
   */
  async check(name: string, look: () => Promise<string>, limitMs = patienceMs): Promise<boolean> {
    if (!this.wants(name)) return true
    return (await this.prepare(name, look, limitMs)) !== undefined
  }

  /** As {@link check}, for what others need: it is run whatever was asked for, and told only when it fails or was asked for. */
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

  /** Tells that an item was not looked at, if it was asked for. */
  skip(name: string, why: string): void {
    if (this.wants(name)) this.tell({ name, verdict: 'SKIP', detail: why, milliseconds: 0 })
  }

  /** Whether an item of a part has failed. */
  hasFailed(part: string): boolean {
    return this.items.some(({ name, verdict }) => verdict === 'FAIL' && name.startsWith(`${part}.`))
  }

  /** Prints a line that is no item. */
  note(line: string): void {
    this.#options.print(`      ${line}`)
  }

  /** Adds an item as it is, and prints it. */
  tell(item: Item): void {
    this.items.push(item)
    const { print, mark } = this.#options
    const [first = '', ...more] = item.detail.split('\n')
    print(
      `${item.verdict.padEnd(4)}  ${item.name}${mark === undefined ? '' : ` (${mark})`}${first === '' ? '' : `: ${first}`}`,
    )
    for (const line of more) print(`      ${line}`)
  }

  /** The last line: how many of each. */
  summary(): string {
    const count = (wanted: Verdict): number => this.items.filter(({ verdict }) => verdict === wanted).length
    return `${count('PASS')} passed, ${count('FAIL')} failed, ${count('ASK')} to ask a person, ${count('SKIP')} not possible here`
  }

  /** 1 where an item failed, or nothing at all was looked at. */
  get exitCode(): 0 | 1 {
    return this.items.length === 0 || this.items.some(({ verdict }) => verdict === 'FAIL') ? 1 : 0
  }

  /** Writes everything as JSON, with what it was found on. */
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
