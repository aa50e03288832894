import { joinLink, roomParameter } from '../../../shared/media/room-page.ts'

/** Maximum length of a room's number. */
const longest = 128
/** Sizes in pixels of the icons in the folder of the page, from `assets/icons`. */
const iconSizes = [96, 128, 256, 512] as const

/**
 * Web app manifest (W3C) of a room's page: an installed one opens that room in a window of its own. All addresses are relative to the manifest, so that
 * they hold behind any proxy.
 * @param search query of the request, e.g. `?roomId=123`
 * @returns undefined without a room
 */
export function roomManifest(search: string): Record<string, unknown> | undefined {
  const roomId = new URLSearchParams(search).get(roomParameter) ?? ''
  if (roomId === '' || roomId.length > longest) return undefined
  const start = joinLink('./', roomId, '')
  return {
    id: start,
    name: `Roomdesk · ${roomId}`,
    short_name: `Roomdesk ${roomId}`,
    start_url: start,
    scope: './',
    display: 'standalone',
    background_color: '#f2f4f6',
    theme_color: '#111a23',
    icons: iconSizes.map((size) => ({ src: `${size}x${size}.png`, sizes: `${size}x${size}`, type: 'image/png' })),
  }
}
