import { language, languageTag, texts } from '../texts/texts.ts'
import { canChooseSpeaker } from './speaker.ts'

/**
 * The announcement as a file, for browsers without a voice. English is spoken by flite's voice slt, the other languages
 * by espeak-ng.
 */
const files = import.meta.glob<string>('../../../texts/*/recording-on.mp3', {
  eager: true,
  query: '?url',
  import: 'default',
})

// Browsers load their list of voices at its first use.
if ('speechSynthesis' in globalThis) speechSynthesis.getVoices()

/**
 * Returns a voice of this machine for a language. Voices of internet services are excluded: a site may have no internet
 * access.
 */
function voiceFor(tag: string): SpeechSynthesisVoice | undefined {
  if (!('speechSynthesis' in globalThis)) return undefined
  const [short = tag] = tag.split('-')
  const fitting = speechSynthesis.getVoices().filter(({ lang, localService }) => localService && lang.startsWith(short))
  return fitting.find(({ lang }) => lang.replace('_', '-') === tag) ?? fitting[0]
}

/** Plays a file. If the browser blocks sound or lacks the speaker, only the notice on the screen remains. */
async function play(file: string, sink: string): Promise<void> {
  const element = new Audio(file)
  try {
    if (canChooseSpeaker() && sink !== '') await element.setSinkId(sink)
    await element.play()
  } catch (error) {
    console.warn(error)
  }
}

/**
 * Announces once, in the language of the page, that the meeting is recorded: by a voice of the machine, else by a file.
 * @param sink id of the speaker for the file; empty: the system's
 */
export function sayRecordingOn(sink: string): void {
  const playFile = (): void => void play(files[`../../../texts/${language.value}/recording-on.mp3`] ?? '', sink)
  const voice = voiceFor(languageTag.value)
  if (voice === undefined) return playFile()
  const spoken = new SpeechSynthesisUtterance(texts.value.told.recordingOn)
  spoken.lang = voice.lang
  spoken.voice = voice
  spoken.addEventListener('error', playFile, { once: true })
  speechSynthesis.speak(spoken)
}
