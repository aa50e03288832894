import { computed, type ComputedRef } from 'vue'
import type { Column } from '../../kit/components/table.ts'
import { useText } from '../i18n/text.ts'
import { useSettings } from './useSettings.ts'

/**
 * Column of thumbnails; empty if the site has disabled them.
 * @param from minimum width of the table that shows the column, in pixels
 */
export function usePictureColumn(from: number): ComputedRef<Column[]> {
  const { t } = useText()
  const { value: settings } = useSettings()
  return computed(() =>
    settings.value?.console.thumbnails === false
      ? []
      : [{ key: 'picture', title: t('words.picture'), track: '62px', quiet: true, from }],
  )
}
