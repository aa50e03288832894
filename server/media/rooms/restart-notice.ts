import type { MediaSettings } from '../../../shared/media/media-settings.ts'

/**
 * Returns the announced restart as sent to clients: in milliseconds from now, because their clocks may differ. A time
 * in the past is omitted.
 */
export function restartIn(
  { restarts_at }: Pick<MediaSettings, 'restarts_at'>,
  now: number,
): { restarts_in_ms?: number } {
  return restarts_at > now ? { restarts_in_ms: restarts_at - now } : {}
}
