import { elementPlaces, type ElementPlace, numberAt } from '../playback/ebml.ts'

/** Element ids (RFC 9559, section 5.1). Those that are hidden have one byte, as `Void` has (RFC 8794, section 11.3.2). */
const ids = {
  void: 0xec,
  segment: 0x1853_8067,
  tracks: 0x1654_ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  cluster: 0x1f43_b675,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
} as const

/**
 * Hides tracks in a piece of a WebM, in place: their entries and blocks become `Void` elements, which players skip. All lengths and places stay, so that byte ranges hold.
 * @param piece the init, or a whole cluster
 */
export function hideWebmTracks(piece: Buffer, hidden: ReadonlySet<number>): void {
  hideBetween(piece, 0, piece.length, hidden)
}

function hideBetween(piece: Buffer, from: number, to: number, hidden: ReadonlySet<number>): void {
  for (const place of elementPlaces(piece, from, to)) {
    if (place.id === ids.segment || place.id === ids.tracks || place.id === ids.cluster)
      hideBetween(piece, place.from, place.to, hidden)
    else if (hidden.has(trackOf(piece, place) ?? -1)) {
      piece[place.start] = ids.void
      piece.fill(0, place.from, place.to)
    }
  }
}

/** Track that an element belongs to; undefined: none. */
function trackOf(piece: Buffer, { id, from, to }: ElementPlace): number | undefined {
  if (id === ids.simpleBlock || id === ids.block) return numberAt(piece, from, true)?.value
  if (id !== ids.blockGroup && id !== ids.trackEntry) return undefined
  for (const inner of elementPlaces(piece, from, to)) {
    if (inner.id === ids.trackNumber) return piece.readUIntBE(inner.from, inner.to - inner.from)
    if (inner.id === ids.block) return trackOf(piece, inner)
  }
  return undefined
}
