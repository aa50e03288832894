import { shallowRef } from 'vue'
import { type WallArrangement, wallArrangement } from '../../../shared/domain/wall-layout.ts'
import { wallView } from '../../../shared/console/wall.ts'
import { useConsole } from '../composables/useConsole.ts'
import { useFormat } from '../composables/useFormat.ts'
import { useText } from '../i18n/text.ts'

const wallItems = wallView.shape.items
/** Kind and id of a tile, and its name. */
type Named = readonly [tile: string, name: string]

/** Describes tiles and layout of a wall. */
export function useWallText() {
  const client = useConsole()
  const { t } = useText()
  const { number, span } = useFormat()
  /** Names of cameras and topics of rooms, by kind and id. */
  const names = shallowRef<ReadonlyMap<string, string>>(new Map())

  /** Loads the names of the tiles in these values. A deleted camera or room is shown by its id. */
  async function readNames(values: readonly unknown[]): Promise<void> {
    const items = values.flatMap((value) => wallItems.safeParse(value).data ?? [])
    const rooms = [...new Set(items.filter(({ kind }) => kind === 'room').map(({ id }) => id))]
    const devices = items.some(({ kind }) => kind === 'camera') ? client.call('devices.list') : Promise.resolve([])
    const found = await Promise.allSettled([
      devices.then((all) => all.map(({ userId, userName }): Named => [`camera ${userId}`, userName])),
      ...rooms.map(async (room_id): Promise<Named[]> => {
        const { room } = await client.call('rooms.get', { room_id })
        return [[`room ${room_id}`, room.topic]]
      }),
    ])
    names.value = new Map(found.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])))
  }

  /** Returns the tiles of a wall, one line each; undefined: not a list of tiles. */
  function tilesText(value: unknown): string | undefined {
    const { data } = wallItems.safeParse(value)
    return data?.map(({ kind, id }) => names.value.get(`${kind} ${id}`) || id).join('\n')
  }

  /** Returns the layout of a wall, one line for each part; undefined: not a layout. */
  function layoutText(value: unknown): string | undefined {
    const { data } = wallArrangement.safeParse(value ?? {})
    return data && linesOf(data).join('\n')
  }

  function linesOf({ layout, page_tiles, rotate_s, ...switches }: WallArrangement): string[] {
    const named = (field: string, text: string): string => t('edits.named', { field, value: text })
    const on = (['titles', 'clock', 'alarm_cameras', 'alarm_people'] as const).filter((name) => switches[name])
    const rotation =
      rotate_s === 0 ? t('wall.options.noRotation') : t('wall.options.every', { span: span(rotate_s * 1_000) })
    return [
      named(t('wall.options.layout'), t(`wall.layouts.${layout}`)),
      ...(layout === 'even' ? [named(t('wall.options.pageTiles'), number(page_tiles))] : []),
      named(t('wall.options.rotation'), rotation),
      ...on.map((name) => t(`wall.options.${name}`)),
    ]
  }

  return { readNames, tilesText, layoutText }
}
