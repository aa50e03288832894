import { z } from 'zod'
import { limits } from '../limits.ts'
import { nameBytes } from '../operation.ts'
import { recordVersion, seenVersion } from '../domain/record-version.ts'
import { change, read } from './declare.ts'
import { done, moment, emptyOutcome } from '../domain/outcome.ts'
import { operator, viewer } from './procedure-access.ts'
import { changes, unrecorded } from './procedure-events.ts'
import { wallArrangement, wallItem } from '../domain/wall-layout.ts'
import { deleted } from './trash.ts'

export const wallViewName = nameBytes(1, limits.label)
const viewId = z.string().min(1).max(64)
const items = z.array(wallItem).min(1).max(limits.wallItems)

/** Named selection of cameras and rooms, in the order of their tiles. */
export const wallView = z.strictObject({
  id: viewId,
  name: z.string(),
  items: z.array(wallItem),
  /** Arrangement of the tiles; undefined: equal tiles on one page. */
  arrangement: wallArrangement.optional(),
  /** Number that increases with each change. */
  revision: z.int().min(1),
  changed_at: moment,
  version: recordVersion,
})
export type WallView = z.output<typeof wallView>

/** Camera or room that is brought to the front of open walls. */
export const wallBrought = z.strictObject({
  item: wallItem,
  seconds: z.int().min(5).max(600).default(30),
  /** View whose walls are affected; undefined: every open wall. */
  view: viewId.optional(),
})

/** Procedures for saved views of the wall. */
export const wallProcedures = {
  'wall.list': read({
    summary: 'The saved views of the wall, by name.',
    input: emptyOutcome,
    output: z.array(wallView),
    access: viewer('wall:read'),
    refreshOn: ['wall.changed'],
  }),
  'wall.save': change({
    summary:
      'Save a view of the wall. Without an id it is a new one, with a name and items; with an id, what is left out stays. With a revision it is refused when somebody else changed the view meanwhile.',
    input: z.strictObject({
      id: viewId.optional(),
      name: wallViewName.optional(),
      items: items.optional(),
      arrangement: wallArrangement.optional(),
      /** Revision for scripts written for earlier versions. `expected_version` merges concurrent changes instead. */
      revision: z.int().min(1).optional(),
      ...seenVersion,
    }),
    output: wallView,
    edits: ({ id }) => (id === undefined ? undefined : { kind: 'wall', key: id }),
    access: operator('wall:write'),
    event: changes('wall'),
  }),
  'wall.bring': change({
    summary: 'Bring a camera or a room to the front of every open wall, e.g. when a sensor reports motion.',
    input: wallBrought,
    output: done,
    access: operator('wall:write'),
    event: unrecorded('only changes what open walls show'),
  }),
  'wall.remove': change({
    summary: 'Forget a saved view of the wall.',
    input: z.strictObject({ id: viewId }),
    output: deleted,
    access: operator('wall:write'),
    event: changes('wall'),
  }),
}
