import { shallowRef } from 'vue'
import { useConsole } from '../../composables/useConsole.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import type { RoomTemplate, TemplateSettings } from '../../../../shared/domain/room-templates.ts'

/** Templates of rooms, as last loaded. */
export function useTemplates() {
  const client = useConsole()
  const templates = shallowRef<readonly RoomTemplate[]>()

  /** If the call fails, there are no templates: rooms can be created without them. */
  async function refresh(): Promise<void> {
    templates.value = await client.call('templates.list').catch(() => [])
  }

  return { templates, refresh }
}

/** Returns the settings of a room that a template stores. */
export function templateOf(room: RoomView): TemplateSettings {
  const { topic, owner_id, room_mode, max_video, max_audio, attendee_max, entry_by_number, waiting_room, tags } = room
  const settings = { topic, owner_id, room_mode, max_video, max_audio, attendee_max, entry_by_number, waiting_room }
  return tags.length === 0 ? settings : { ...settings, tags }
}
