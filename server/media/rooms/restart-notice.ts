import type { MediaSettings } from '../../../shared/media/media-settings.ts'

/**
 * Returns the time until the announced restart, for clients. The time is relative, because the clients' clocks may
 * differ. A restart in the past is omitted.
 */
export function restartIn(
  { restarts_at }: Pick<MediaSettings, 'restarts_at'>,
  now: number,
): { restarts_in_ms?: number } {
  return restarts_at > now ? { restarts_in_ms: restarts_at - now } : {}
}
