import { z } from 'zod'
import { limits } from './limits.ts'

/** Calls of the desktop app's own window to the app around it: what belongs to this computer and not to the site. */

const nothing = z.strictObject({})

/** A display, as the operator chose a wall for it: found again by its id, else by name and size. */
const wallDisplay = z.strictObject({
  /** Number that the system gives the display. */
  id: z.number(),
  /** Name of the display; empty where the system gives none. */
  label: z.string().max(200),
  /** Size in DIP. */
  width: z.int().min(0),
  height: z.int().min(0),
})
export type WallDisplay = z.output<typeof wallDisplay>

/** Wall of one display. */
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
      /** The main display of the desktop. */
      primary: z.boolean(),
      /** Id of the chosen view; empty: none. */
      view: z.string(),
    }),
  ),
  /** Opens the walls when the operator logs in. */
  at_login: z.boolean(),
  /** The walls are open. */
  open: z.boolean(),
})
export type WallsView = z.output<typeof wallsView>

/** Reasons for which an update was not found, fetched, proven or installed. */
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

/** When an update is installed: by the operator, or by itself once nobody is in a room. */
export const updateChoice = z.object({
  /** Address or folder of the site's updates; empty: the app asks nobody. */
  source: z.string().max(2_000),
  install: z.enum(['ask', 'quiet']),
  /** Hour of the day (0 to 23) from which it may be installed by itself; null: at any time. */
  hour: z.int().min(0).max(23).nullable(),
})

const updatesView = updateChoice.extend({
  /** `elevated`: Windows asks an administrator first; `package`: the system asks for the rights first; `image`: the operator puts the app in its place; `byHand`: the operator installs the fetched file. */
  way: z.enum(['replace', 'installer', 'elevated', 'package', 'image', 'byHand']),
  /** Version of the running app. */
  version: z.string(),
  state: z.enum(['idle', 'checking', 'fetching', 'installing']),
  /** Milliseconds since 1970; 0: not since the start. */
  checked_at: z.number(),
  /** Newer release; null: none is known. */
  release: z.object({ version: z.string(), notes: z.string(), size: z.int() }).nullable(),
  /** Bytes of its installer so far. */
  received: z.int(),
  /** Time of the installation that people in rooms were warned of, in milliseconds since 1970; 0: none. */
  installs_at: z.number(),
  /** Path of the proven installer; empty: there is none. */
  file: z.string(),
  /** Command that installs it from a terminal; empty: there is none. */
  command: z.string(),
  problem: z.object({ name: z.enum(updateProblems), detail: z.string() }).nullable(),
})
export type UpdatesView = z.output<typeof updatesView>

/** All calls, by name. */
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
  /** `warn`: people in rooms are told, and it is installed two minutes later. */
  'updates.install': { input: z.strictObject({ warn: z.boolean() }), output: updatesView },
  'updates.cancel': { input: nothing, output: updatesView },
  /** Opens the fetched image. */
  'updates.open': { input: nothing, output: updatesView },
  /** Shows the fetched installer in its folder. */
  'updates.show': { input: nothing, output: updatesView },
}

export type AppProcedureName = keyof typeof appProcedures
export type AppInput<N extends AppProcedureName> = z.output<(typeof appProcedures)[N]['input']>
export type AppOutput<N extends AppProcedureName> = z.output<(typeof appProcedures)[N]['output']>

/** Parts of the app whose state has changed, which the page reads again. */
export type AppChange = 'walls' | 'updates'
