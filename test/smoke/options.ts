import { parseArgs } from 'node:util'

/** Options of `npm run smoke`. */
export interface SmokeOptions {
  help: boolean
  /** Parts or items; empty: all. */
  only: readonly string[]
  /** Lists the questions to a person instead of asking them. */
  skipQuestions: boolean
  /** Path of the result as JSON, besides the terminal. */
  report: string | undefined
  /** Runs the app on the tests' stand-in: tests this command, not Electron. */
  standIn: boolean
}

/** The parts, in running order. */
export const parts = {
  start: '`npm start`: progress of the fetch, headless where it fails, the app where it does not, Ctrl+C',
  unpacked: "the end-to-end tests on the project's own Electron",
  packed: 'the app packed for this system: fuses, signature, native code',
  app: 'the packed app, driven by its page and its ports',
  installers: "this system's installers: made, unpacked or installed, started from there",
  upgrades:
    'an AppImage that is updated; on Windows, as administrator: the service after an upgrade, an upgrade by the system',
  questions: 'what only a person can see',
} as const

export type PartName = keyof typeof parts

export const help = `npm run smoke [-- options]

Tells whether the desktop app works on genuine Electron, on this system. It needs Electron's binary
(npx --no-install install-electron) and a display. Each item is PASS, FAIL, ASK (a person has to look)
or SKIP (not possible here, with the reason). Exit code: 0, 1 where an item failed, 2 where it cannot begin.

  --only NAMES        parts or items, by commas, e.g. --only packed,app.preview
  --skip-questions    name what a person would be asked, and do not ask
  --report FILE       write the result as JSON too
  --stand-in          rehearse the parts "start" and "app" on the stand-in of the tests: proves nothing of Electron
  --help

Parts:
${Object.entries(parts)
  .map(([name, what]) => `  ${name.padEnd(12)}${what}`)
  .join('\n')}
`

/** @throws Error of one line with the problem of the command line */
export function readOptions(args: readonly string[]): SmokeOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      'skip-questions': { type: 'boolean', default: false },
      report: { type: 'string' },
      'stand-in': { type: 'boolean', default: false },
    },
  })
  const only = values.only.flatMap((list) => list.split(',')).map((word) => word.trim())
  const unknown = only.find((word) => !Object.hasOwn(parts, word.split('.')[0] ?? ''))
  if (unknown !== undefined)
    throw new Error(`--only ${unknown}: there is no such part; there are ${Object.keys(parts).join(', ')}.`)
  return {
    help: values.help,
    only,
    skipQuestions: values['skip-questions'],
    report: values.report,
    standIn: values['stand-in'],
  }
}
