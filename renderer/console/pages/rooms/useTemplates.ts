import { shallowRef } from 'vue'
import { useConsole } from '../../composables/useConsole.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import type { RoomTemplate, TemplateSettings } from '../../../../shared/domain/room-templates.ts'

/** Templates of rooms, as last read. */
export function useTemplates() {
  const client = useConsole()
  const templates = shallowRef<readonly RoomTemplate[]>()

  /** Without an answer there are none: a room can be created all the same. */
  async function refresh(): Promise<void> {
    templates.value = await client.call('templates.list').catch(() => [])
  }

  return { templates, refresh }
}

/** Settings of a room that a template keeps. */
export function templateOf(room: RoomView): TemplateSettings {
  const { topic, owner_id, room_mode, max_video, max_audio, attendee_max, entry_by_number, waiting_room, tags } = room
  const settings = { topic, owner_id, room_mode, max_video, max_audio, attendee_max, entry_by_number, waiting_room }
  return tags.length === 0 ? settings : { ...settings, tags }
}
