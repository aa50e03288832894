import { computed } from 'vue'
import { useReading } from '../live/useReading.ts'
import { useText } from '../i18n/text.ts'
import { sharedState, useConsole } from './useConsole.ts'
import { useFeedback } from './useFeedback.ts'
import { useFormat } from './useFormat.ts'
import { useOperatorText } from './useOperatorText.ts'
import type { RecordingTarget } from '../../../shared/domain/recordings.ts'

/** Ordered recordings, and streams that are being recorded. */
export const useRecordings = sharedState(() => {
  const live = useReading('recordings.states')
  const targets = computed<readonly RecordingTarget[]>(() => live.value.value?.items ?? [])
  const byUser = computed(() => new Map(targets.value.map((target) => [keyOf(target.room_id, target.user_id), target])))
  /** Streams that are being recorded. An ordered stream may be absent from its room. */
  const recorded = computed(() => {
    const streams = live.value.value?.streams ?? []
    return new Set(streams.flatMap(({ room_id, user_id }) => [keyOf(room_id, ''), keyOf(room_id, user_id)]))
  })
  return {
    targets,
    /** Returns the recording target of a room (without user), camera or user. */
    targetOf: (roomId: string, userId = ''): RecordingTarget | undefined => byUser.value.get(keyOf(roomId, userId)),
    /** Returns whether a camera is being recorded, by itself or with its room. */
    isRecorded: (roomId: string, userId: string): boolean => recorded.value.has(keyOf(roomId, userId)),
    /** Returns whether anything in a room is being recorded. */
    isRoomRecorded: (roomId: string): boolean => recorded.value.has(keyOf(roomId, '')),
    refresh: live.refresh,
  }
})

/** A room, or a camera in it. */
export interface RecordedThing {
  roomId: string
  /** Id of the camera's user; undefined: the whole room. */
  userId?: string | undefined
  name: string
}

/** Starts and stops recordings. */
export function useRecordingActs() {
  const client = useConsole()
  const { t } = useText()
  const { since } = useFormat()
  const operatorText = useOperatorText()
  const { ask, attempt, tell, warn } = useFeedback()
  const { refresh } = useRecordings()
  const inputOf = ({ roomId, userId }: RecordedThing) => ({
    room_id: roomId,
    ...(userId === undefined ? {} : { user_id: userId }),
  })

  async function start(thing: RecordedThing): Promise<void> {
    const { name, userId } = thing
    if (userId === undefined) {
      const yes = await ask({
        title: t('recording.confirmStart.title', { name }),
        body: t('recording.confirmStart.body'),
        action: t('recording.start'),
        harmless: true,
      })
      if (!yes) return
    }
    await attempt(
      () => client.call('recordings.start', inputOf(thing)),
      () => t('recording.started', { name }),
    )
    await refresh()
  }

  async function stop(thing: RecordedThing): Promise<void> {
    const { name } = thing
    const outcome = await attempt(() => client.call('recordings.stop', inputOf(thing)))
    if (outcome?.stopped === false) warn(t('recording.goesOn', { name }))
    else if (outcome !== undefined) tell(t('recording.stopped', { name }))
    await refresh()
  }

  function stateText(target: RecordingTarget | undefined): string {
    if (target === undefined) return t('recording.idle')
    if (target.hindrance !== null) return t(`recording.hindrances.${target.hindrance}`)
    if (!target.recording) return t('recording.waiting')
    const { by, started_by: who } = target
    // Recordings ordered under earlier versions have no name.
    const starter = by === 'order' && who === '' ? 'orderOfSomebody' : by
    const text = t(`recording.by.${starter}`, { name: operatorText(who) })
    return t('recording.since', { time: since(target.since), by: text })
  }

  return { start, stop, stateText }
}

function keyOf(roomId: string, userId: string): string {
  return JSON.stringify([roomId, userId])
}
