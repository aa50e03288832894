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

/** All calls, by name. */
export const appProcedures = {
  'walls.get': { input: nothing, output: wallsView },
  'walls.choose': {
    input: z.strictObject({ walls: z.array(wallChoice).max(limits.wallDisplays), at_login: z.boolean() }),
    output: wallsView,
  },
  'walls.open': { input: nothing, output: wallsView },
}

export type AppProcedureName = keyof typeof appProcedures
export type AppInput<N extends AppProcedureName> = z.output<(typeof appProcedures)[N]['input']>
export type AppOutput<N extends AppProcedureName> = z.output<(typeof appProcedures)[N]['output']>

/** Parts of the app whose state has changed, which the page reads again. */
export type AppChange = 'walls'
