import { computed, onScopeDispose, shallowRef } from 'vue'
import type { EventEntry } from '../../../../shared/domain/events.ts'
import type { WallArrangement, WallItem } from '../../../../shared/domain/wall-layout.ts'
import { useEvent } from '../../live/useEvent.ts'
import { itemKey } from './wall-items.ts'

/** Reason why a tile is at the front. */
type AlarmKind = 'lost' | 'back' | 'entered' | 'brought'

/** A tile that is shown at the front for some time. */
export interface Alarm {
  item: WallItem
  kind: AlarmKind
  /** Name of the user who entered; empty for other kinds. */
  person: string
  /** Time at the front, in milliseconds. */
  lasts: number
  at: number
}

/** Time of an alarm at the front, in milliseconds; shorter while other alarms wait. */
const alarmMs = 20_000
const waitedForMs = 5_000
/** Maximum number of waiting alarms; the oldest are dropped, because all cameras of a restarted node return at once. */
const most = 3

/** Returns the alarm for an event of the site; undefined: none. */
function alarmOf(
  { kind, subject, room, at }: Pick<EventEntry, 'kind' | 'subject' | 'room' | 'at'>,
  items: ReadonlySet<string>,
  { alarm_cameras, alarm_people }: Pick<WallArrangement, 'alarm_cameras' | 'alarm_people'>,
): Alarm | undefined {
  const camera: WallItem = { kind: 'camera', id: subject.id }
  const visited: WallItem = { kind: 'room', id: room }
  if (alarm_cameras && (kind === 'device.lost' || kind === 'device.joined') && items.has(itemKey(camera))) {
    return { item: camera, kind: kind === 'device.lost' ? 'lost' : 'back', person: '', lasts: alarmMs, at }
  }
  if (alarm_people && kind === 'person.joined' && items.has(itemKey(visited))) {
    return { item: visited, kind: 'entered', person: subject.name || subject.id, lasts: alarmMs, at }
  }
  return undefined
}

/** The tile at the front of a wall, by the latest alarm or script. Several alarms are shown one after the other. */
export function useWallAlarms(wall: {
  viewId: () => string
  items: () => readonly WallItem[]
  arrangement: () => WallArrangement
}) {
  const queue = shallowRef<readonly Alarm[]>([])
  const keys = computed(() => new Set(wall.items().map(itemKey)))
  let timer: ReturnType<typeof setTimeout> | undefined
  let shownSince = 0

  function add(alarm: Alarm): void {
    const [first] = queue.value
    const key = itemKey(alarm.item)
    if (first === undefined) shownSince = Date.now()
    const same = queue.value.findIndex(({ item }) => itemKey(item) === key)
    queue.value =
      same === -1
        ? [...queue.value.slice(0, 1), ...queue.value.slice(1).slice(-(most - 1)), alarm]
        : queue.value.with(same, alarm)
    if (same === 0) shownSince = Date.now()
    plan()
  }

  function plan(): void {
    clearTimeout(timer)
    const [first, ...others] = queue.value
    if (first === undefined) return
    const lasts = others.length > 0 ? Math.min(first.lasts, waitedForMs) : first.lasts
    timer = setTimeout(dismiss, Math.max(0, shownSince + lasts - Date.now()))
  }

  /** Ends the current alarm; the next one follows. */
  function dismiss(): void {
    queue.value = queue.value.slice(1)
    shownSince = Date.now()
    plan()
  }

  useEvent('events.added', ({ items }) => {
    for (const entry of items) {
      const alarm = alarmOf(entry, keys.value, wall.arrangement())
      if (alarm !== undefined) add(alarm)
    }
  })
  useEvent('wall.brought', ({ item, seconds, view }) => {
    if (view !== undefined && view !== wall.viewId()) return
    add({ item, kind: 'brought', person: '', lasts: seconds * 1_000, at: Date.now() })
  })
  onScopeDispose(() => clearTimeout(timer))
  return { front: computed(() => queue.value[0]), dismiss }
}
