/** Returns the MediaSource class of this browser; Safari on an iPhone has only the managed one. undefined: none. */
export function mediaSourceClass(): typeof MediaSource | undefined {
  const { MediaSource, ManagedMediaSource } = globalThis as {
    MediaSource?: typeof globalThis.MediaSource
    ManagedMediaSource?: typeof globalThis.MediaSource
  }
  return MediaSource ?? ManagedMediaSource
}

/**
 * Returns a content type in this browser's spelling: Safari requires the sample entry's name for Opus in MP4.
 * undefined: the browser cannot play it.
 */
export function playableType(type: string): string | undefined {
  return [type, type.replace('opus', 'Opus')].find((one) => mediaSourceClass()?.isTypeSupported(one))
}
