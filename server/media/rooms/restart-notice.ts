import type { MediaSettings } from '../../../shared/media/media-settings.ts'

/** Announced restart as people are told it: in milliseconds from now, because their clocks may differ. A time that has passed is none. */
export function restartIn(
  { restarts_at }: Pick<MediaSettings, 'restarts_at'>,
  now: number,
): { restarts_in_ms?: number } {
  return restarts_at > now ? { restarts_in_ms: restarts_at - now } : {}
}
