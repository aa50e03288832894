import { useCaller } from './useCaller.ts'
import { useSettings } from './useSettings.ts'

/** Says whether this caller may watch a stream unseen: cameras always; people as an operator, or where the settings say so. The controller judges every call anyway. */
export function useMayWatch(): (isCamera: boolean) => boolean {
  const { is } = useCaller()
  const { value: settings } = useSettings()
  return (isCamera) => isCamera || is('operator') || settings.value?.console.viewers_watch === true
}
