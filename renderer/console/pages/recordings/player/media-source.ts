/** Media Source Extensions of this browser: Safari on an iPhone has the managed source alone. undefined: it has none. */
export function mediaSourceClass(): typeof MediaSource | undefined {
  const { MediaSource, ManagedMediaSource } = globalThis as {
    MediaSource?: typeof globalThis.MediaSource
    ManagedMediaSource?: typeof globalThis.MediaSource
  }
  return MediaSource ?? ManagedMediaSource
}

/** Content type as this browser spells it: Safari knows Opus in MP4 by the name of its sample entry. undefined: it does not play it. */
export function playableType(type: string): string | undefined {
  return [type, type.replace('opus', 'Opus')].find((one) => mediaSourceClass()?.isTypeSupported(one))
}
