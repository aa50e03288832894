import type { RecordingHours, RecordingRule } from '../../../../shared/recordings/recording-rule.ts'
import { weekdays } from '../../../../shared/schedule/repetition.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { useScheduleText } from '../../pages/rooms/useScheduleText.ts'

/** Numbers of the weekdays; 1 is Monday. */
export const dayNumbers = [1, 2, 3, 4, 5, 6, 7] as const

/** Describes recording rules in the operator's language. */
export function useRuleText() {
  const { t } = useText()
  const { list } = useFormat()
  const { weekdayName } = useScheduleText()

  /** "Mon" for 1. */
  function dayName(day: number, width: 'long' | 'short' = 'short'): string {
    return weekdayName(weekdays[day - 1] ?? 'MO', width)
  }

  function hoursText({ days, from, to, zone }: RecordingHours): string {
    const names = list([...days].sort((one, other) => one - other).map((day) => dayName(day)))
    return t('recording.hoursText', { days: names, from, to, zone: zone.replaceAll('_', ' ') })
  }

  /** @param ofRoom the rule applies to a room, not to a camera */
  function ruleText({ when, hours = [] }: RecordingRule, ofRoom: boolean): string {
    if (when === 'always' && ofRoom) return t('recording.whenRoom.always')
    if (when !== 'hours' || hours.length === 0) return t(`recording.when.${when}`)
    return hours.map(hoursText).join('; ')
  }

  return { dayName, ruleText }
}
