import type { Language } from '../../../shared/languages.ts'
import german from '../texts/spoken/recording-on.de.mp3'
import english from '../texts/spoken/recording-on.en.mp3'
import chinese from '../texts/spoken/recording-on.zh.mp3'
import { languageOf } from '../texts/languages.ts'
import { language, languageTag, texts } from '../texts/texts.ts'
import { canChooseSpeaker } from './speaker.ts'

/** The sentence as a file, for browsers without a voice: English spoken by flite's voice slt, the others by espeak-ng. */
const files: Readonly<Record<Language, string>> = { en: english, zh: chinese, de: german }

// Browsers load the list of their voices when it is first asked for.
if ('speechSynthesis' in globalThis) speechSynthesis.getVoices()

/** Finds a voice of the machine for a language. Voices of a service on the internet are left out: a site may have none. */
function voiceFor(tag: string): SpeechSynthesisVoice | undefined {
  if (!('speechSynthesis' in globalThis)) return undefined
  const [short = tag] = tag.split('-')
  const fitting = speechSynthesis.getVoices().filter(({ lang, localService }) => localService && lang.startsWith(short))
  return fitting.find(({ lang }) => lang.replace('_', '-') === tag) ?? fitting[0]
}

/** Nothing is heard where the browser blocks sound, or has no such speaker: the notice on the screen stays. */
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
 * Says once in the language of the page that the meeting is recorded: by a voice of the machine, else by a file.
 * @param sink id of the speaker for the file; empty: the system's
 */
export function sayRecordingOn(sink: string): void {
  const playFile = (): void => void play(files[languageOf(language.value)?.id ?? 'en'], sink)
  const voice = voiceFor(languageTag.value)
  if (voice === undefined) return playFile()
  const spoken = new SpeechSynthesisUtterance(texts.value.told.recordingOn)
  spoken.lang = voice.lang
  spoken.voice = voice
  spoken.addEventListener('error', playFile, { once: true })
  speechSynthesis.speak(spoken)
}
