import { parseArgs } from 'node:util'
import { commandFlags, flags } from '../server/bin/launch-options.ts'
import { modeFlags, hiddenFlag, kioskFlag } from './start-mode.ts'

/** A flag that resembles one of Roomdesk's flags but is unknown. The message contains both. */
export class MistypedFlagError extends Error {
  override readonly name = 'MistypedFlagError'
  /** Flag as specified, with its dashes. */
  readonly flag: string
  /** Most similar flag of Roomdesk. */
  readonly meant: string

  constructor(flag: string, meant: string) {
    super(`Roomdesk has no flag ${flag}: use ${meant}, or remove it.`)
    this.flag = flag
    this.meant = meant
  }
}

const ownNames = [
  ...flags,
  ...commandFlags,
  ...[...Object.values(modeFlags), kioskFlag, hiddenFlag].map((flag) => flag.slice(2)),
]

/**
 * Rejects unknown flags that resemble one of Roomdesk's flags. Accepts all other flags: the command line also contains
 * switches of Electron and Chromium, which number more than a thousand and change with every version. Chromium ignores
 * unknown switches.
 * @throws MistypedFlagError
 */
export function refuseMistypedFlags(argv: readonly string[]): void {
  const { tokens } = parseArgs({ args: [...argv], strict: false, allowPositionals: true, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option' || !token.rawName.startsWith('--')) continue
    const name = token.name.toLowerCase()
    const meant = ownNames.includes(token.name) ? undefined : resembledName(name)
    if (meant !== undefined) throw new MistypedFlagError(token.rawName, `--${meant}`)
  }
}

/**
 * Returns the flag that a name resembles; undefined: none. Allows two mistakes in flags longer than five characters,
 * and one in shorter flags, because two mistakes in a short flag can produce an unrelated word.
 */
function resembledName(name: string): string | undefined {
  const near = ownNames.map((own) => ({ own, slips: slipsBetween(name, own) }))
  const [nearest] = near.filter(({ own, slips }) => slips <= (own.length > 5 ? 2 : 1)).sort((a, b) => a.slips - b.slips)
  return nearest?.own
}

/** Returns the number of omitted, added, replaced or swapped characters (optimal string alignment distance). */
function slipsBetween(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swap = swapped ? at(before, column - 2) + 1 : replaced
      next.push(Math.min(at(last, column) + 1, at(next, column - 1) + 1, replaced, swap))
    }
    before = last
    last = next
  }
  return at(last, to.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
