import { useCaller } from './useCaller.ts'
import { useSettings } from './useSettings.ts'

/**
 * Returns whether this caller may watch a stream unseen: cameras always; people for operators, or if the settings allow
 * it. The controller checks every call anyway.
 */
export function useMayWatch(): (isCamera: boolean) => boolean {
  const { is } = useCaller()
  const { value: settings } = useSettings()
  return (isCamera) => isCamera || is('operator') || settings.value?.console.viewers_watch === true
}
