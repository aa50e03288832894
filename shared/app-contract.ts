import { z } from 'zod'
import { limits } from './limits.ts'

/** Procedures that the window of the desktop app calls in the app itself, for this computer instead of the site. */

const nothing = z.strictObject({})

/**
 * Display for which the operator chose a wall. A reconnected display is identified by its id, otherwise by name and
 * size.
 */
const wallDisplay = z.strictObject({
  /** Id that the system assigns to the display. */
  id: z.number(),
  /** Name of the display; empty if unknown. */
  label: z.string().max(200),
  /** Width in DIP. */
  width: z.int().min(0),
  height: z.int().min(0),
})
export type WallDisplay = z.output<typeof wallDisplay>

export const wallChoice = z.strictObject({
  display: wallDisplay,
  /** Id of a saved view of the wall. */
  view: z.string().min(1).max(64),
})
export type WallChoice = z.output<typeof wallChoice>

const wallsView = z.strictObject({
  displays: z.array(
    z.strictObject({
      display: wallDisplay,
      connected: z.boolean(),
      /** Whether this is the main display of the desktop. */
      primary: z.boolean(),
      /** Id of the chosen view; empty: none. */
      view: z.string(),
    }),
  ),
  /** Whether to open the walls when the operator logs in. */
  at_login: z.boolean(),
  open: z.boolean(),
})
export type WallsView = z.output<typeof wallsView>

/** Reasons why an update was not found, downloaded, verified or installed. */
const updateProblems = [
  'badSource',
  'plainHttp',
  'unreachable',
  'silent',
  'refused',
  'noFile',
  'unreadable',
  'malformed',
  'noKey',
  'notSigned',
  'otherKey',
  'noInstaller',
  'truncated',
  'checksum',
  'signature',
  'diskFull',
  'notWritten',
  'notStarted',
  'installerEnded',
  'installerHangs',
  'notAllowed',
  'packageFailed',
  'notInstalled',
] as const
export type UpdateProblemName = (typeof updateProblems)[number]

/** Settings for updates. `install`: `ask` the operator, or install automatically when rooms are empty (`quiet`). */
export const updateChoice = z.object({
  /** Address or folder of the site's updates; empty: updates are off. */
  source: z.string().max(2_000),
  install: z.enum(['ask', 'quiet']),
  /** Hour of the day (0 to 23) during which an update may be installed automatically; null: at any time. */
  hour: z.int().min(0).max(23).nullable(),
})

const updatesView = updateChoice.extend({
  /**
   * Method of installation; see `InstallWay`. `elevated`: Windows asks an administrator first; `package`: the system
   * asks for administrator rights first; `image`: the operator replaces the app; `byHand`: the operator installs the
   * downloaded file.
   */
  way: z.enum(['replace', 'installer', 'elevated', 'package', 'image', 'byHand']),
  version: z.string(),
  state: z.enum(['idle', 'checking', 'fetching', 'installing']),
  /** Time of the last successful check, in milliseconds since the epoch; 0: none since the start. */
  checked_at: z.number(),
  /** Newer release; null: none is known. */
  release: z.object({ version: z.string(), notes: z.string(), size: z.int() }).nullable(),
  /** Number of bytes of the release's installer downloaded so far. */
  received: z.int(),
  /** Time of the installation about which people in rooms were warned, in milliseconds since the epoch; 0: none. */
  installs_at: z.number(),
  /** Path of the verified installer; empty: none. */
  file: z.string(),
  /** Command that installs the file from a terminal; empty: none. */
  command: z.string(),
  problem: z.object({ name: z.enum(updateProblems), detail: z.string() }).nullable(),
})
export type UpdatesView = z.output<typeof updatesView>

export const appProcedures = {
  'walls.get': { input: nothing, output: wallsView },
  'walls.choose': {
    input: z.strictObject({ walls: z.array(wallChoice).max(limits.wallDisplays), at_login: z.boolean() }),
    output: wallsView,
  },
  'walls.open': { input: nothing, output: wallsView },
  'updates.get': { input: nothing, output: updatesView },
  'updates.set': { input: updateChoice, output: updatesView },
  'updates.check': { input: nothing, output: updatesView },
  /** `warn`: warns people in rooms, and installs two minutes later. */
  'updates.install': { input: z.strictObject({ warn: z.boolean() }), output: updatesView },
  'updates.cancel': { input: nothing, output: updatesView },
  'updates.open': { input: nothing, output: updatesView },
  /** Shows the downloaded installer in its folder. */
  'updates.show': { input: nothing, output: updatesView },
}

export type AppProcedureName = keyof typeof appProcedures
export type AppInput<N extends AppProcedureName> = z.output<(typeof appProcedures)[N]['input']>
export type AppOutput<N extends AppProcedureName> = z.output<(typeof appProcedures)[N]['output']>

/** Parts of the app whose state has changed, so that the page must read it again. */
export type AppChange = 'walls' | 'updates'
