import type { TimedTrack } from './timed-track.ts'
import type { PictureFrame, SoundFrame } from './track-format.ts'

/** Distance between the alignments by reports and by arrivals above which the reports are not believed, in milliseconds. */
const maxReportedMs = 1_500
/** Distance of a segment's picture from its sound above which they are aligned anew, in milliseconds. */
const maxApartMs = 20

/** Ticks of the sound that belong to a moment of the picture: by the sender's reports, or by when their packets came. */
export function soundTicksAt(picture: TimedTrack<PictureFrame>, sound: TimedTrack<SoundFrame>, ticks: number): number {
  return reportedTicks(picture, sound, ticks) ?? sound.clock.ticksAt(picture.clock.at(ticks))
}

/** Whether the reports say that picture and sound are not together, of which these ticks are at one moment of a segment. */
export function isApart(
  picture: TimedTrack<PictureFrame>,
  sound: TimedTrack<SoundFrame>,
  pictureTicks: number,
  soundTicks: number,
): boolean {
  const reported = reportedTicks(picture, sound, pictureTicks)
  return reported !== undefined && Math.abs(sound.milliseconds(reported - soundTicks)) > maxApartMs
}

function reportedTicks(
  picture: TimedTrack<PictureFrame>,
  sound: TimedTrack<SoundFrame>,
  ticks: number,
): number | undefined {
  const ntp = picture.clock.senderAt(ticks)
  const reported = ntp === undefined ? undefined : sound.clock.ticksAtSender(ntp)
  if (reported === undefined) return undefined
  const arrived = sound.clock.ticksAt(picture.clock.at(ticks))
  return Math.abs(sound.milliseconds(reported - arrived)) > maxReportedMs ? undefined : reported
}
