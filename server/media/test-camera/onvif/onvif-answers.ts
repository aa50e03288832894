/** Namespaces of the answers. */
const namespaces = [
  's="http://www.w3.org/2003/05/soap-envelope"',
  'd="http://www.onvif.org/ver10/device/wsdl"',
  'm="http://www.onvif.org/ver10/media/wsdl"',
  'p="http://www.onvif.org/ver20/ptz/wsdl"',
  't="http://www.onvif.org/ver10/schema"',
  'ter="http://www.onvif.org/ver10/error"',
  'tev="http://www.onvif.org/ver10/events/wsdl"',
  'tns1="http://www.onvif.org/ver10/topics"',
  'wsa="http://www.w3.org/2005/08/addressing"',
  'wsnt="http://docs.oasis-open.org/wsn/b-2"',
  'wstop="http://docs.oasis-open.org/wsn/t-1"',
  'xs="http://www.w3.org/2001/XMLSchema"',
]
  .map((each) => `xmlns:${each}`)
  .join(' ')

/** Returns a SOAP message with this content. */
export function soapMessage(content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope ${namespaces}><s:Body>${content}</s:Body></s:Envelope>`
}

/** Returns a SOAP fault (ONVIF Core Specification, section 5.8.2). */
export function soapFault(subcode: 'ter:NotAuthorized' | 'ter:ActionNotSupported'): string {
  const code = `<s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>${subcode}</s:Value></s:Subcode></s:Code>`
  return soapMessage(
    `<s:Fault>${code}<s:Reason><s:Text xml:lang="en">${subcode.slice(4)}</s:Text></s:Reason></s:Fault>`,
  )
}

/** A picture of the camera: a profile of ONVIF. */
interface OnvifProfile {
  token: string
  width: number
  height: number
  rate: number
  /** Encoding as in ONVIF, e.g. `H264`. */
  encoding: string
  streamUrl: string
}

/** Facts about the camera in the answers. */
export interface OnvifFacts {
  name: string
  /** Clock of the camera, in milliseconds since the epoch. */
  now: number
  /** `http://host:port`, as the client called the camera. */
  origin: string
  snapshotUrl: string
  profiles: readonly OnvifProfile[]
}

/** Operations of PTZ that are accepted without an effect (ONVIF PTZ Service Specification). */
const ptzOperations = new Set([
  ...['ContinuousMove', 'RelativeMove', 'AbsoluteMove', 'Stop', 'GotoPreset', 'GotoHomePosition', 'SetHomePosition'],
  ...['GetPresets', 'GetStatus', 'GetNodes', 'GetConfigurations'],
])

/** Returns the content of the answer to an operation; undefined: the camera does not know the operation. */
export function onvifAnswer(operation: string, request: string, facts: OnvifFacts): string | undefined {
  if (ptzOperations.has(operation)) return `<p:${operation}Response/>`
  const [first] = facts.profiles
  const token = /<(?:\w{1,20}:)?ProfileToken>([^<]{1,64})</.exec(request)?.[1]
  const profile = facts.profiles.find((each) => each.token === token) ?? first
  switch (operation) {
    case 'GetSystemDateAndTime':
      return `<d:GetSystemDateAndTimeResponse><d:SystemDateAndTime><t:DateTimeType>Manual</t:DateTimeType><t:DaylightSavings>false</t:DaylightSavings>${utc(new Date(facts.now))}</d:SystemDateAndTime></d:GetSystemDateAndTimeResponse>`
    case 'GetDeviceInformation':
      return `<d:GetDeviceInformationResponse><d:Manufacturer>Roomdesk lab</d:Manufacturer><d:Model>Test camera</d:Model><d:FirmwareVersion>1</d:FirmwareVersion><d:SerialNumber>${facts.name}</d:SerialNumber><d:HardwareId>lab</d:HardwareId></d:GetDeviceInformationResponse>`
    case 'GetCapabilities':
      return `<d:GetCapabilitiesResponse><d:Capabilities>${capability('Device', facts)}${capability('Events', facts)}${capability('Media', facts)}${capability('PTZ', facts)}</d:Capabilities></d:GetCapabilitiesResponse>`
    case 'GetServices':
      return `<d:GetServicesResponse>${service('ver10/device', facts)}${service('ver10/events', facts)}${service('ver10/media', facts)}${service('ver20/ptz', facts)}</d:GetServicesResponse>`
    case 'GetScopes':
      return `<d:GetScopesResponse>${scopesOf(facts.name)
        .map((scope) => `<d:Scopes><t:ScopeDef>Fixed</t:ScopeDef><t:ScopeItem>${scope}</t:ScopeItem></d:Scopes>`)
        .join('')}</d:GetScopesResponse>`
    case 'GetProfiles':
      return `<m:GetProfilesResponse>${facts.profiles.map((each) => profileOf(each, 'Profiles')).join('')}</m:GetProfilesResponse>`
    case 'GetProfile':
      return profile && `<m:GetProfileResponse>${profileOf(profile, 'Profile')}</m:GetProfileResponse>`
    case 'GetVideoSources':
      return (
        first &&
        `<m:GetVideoSourcesResponse><m:VideoSources token="source">${resolution(first)}</m:VideoSources></m:GetVideoSourcesResponse>`
      )
    case 'GetStreamUri':
      return profile && mediaUri(operation, profile.streamUrl)
    case 'GetSnapshotUri':
      return mediaUri(operation, facts.snapshotUrl)
    default:
      return undefined
  }
}

/** Returns the scopes by which searches name the camera (ONVIF Core Specification, section 7.3.2.2). */
export function scopesOf(name: string): string[] {
  return ['Profile/Streaming', 'type/video_encoder', 'type/ptz', 'hardware/Roomdesk%20lab', `name/${name}`].map(
    (scope) => `onvif://www.onvif.org/${scope}`,
  )
}

/** Address of the camera's services: one address serves all. */
export const servicePath = '/onvif/device_service'

function capability(name: string, { origin }: OnvifFacts): string {
  return `<t:${name}><t:XAddr>${origin}${servicePath}</t:XAddr></t:${name}>`
}

function service(name: string, { origin }: OnvifFacts): string {
  return `<d:Service><d:Namespace>http://www.onvif.org/${name}/wsdl</d:Namespace><d:XAddr>${origin}${servicePath}</d:XAddr><d:Version><t:Major>2</t:Major><t:Minor>0</t:Minor></d:Version></d:Service>`
}

function mediaUri(operation: string, url: string): string {
  return `<m:${operation}Response><m:MediaUri><t:Uri>${url}</t:Uri><t:InvalidAfterConnect>false</t:InvalidAfterConnect><t:InvalidAfterReboot>false</t:InvalidAfterReboot><t:Timeout>PT0S</t:Timeout></m:MediaUri></m:${operation}Response>`
}

function resolution({ width, height }: OnvifProfile): string {
  return `<t:Resolution><t:Width>${width}</t:Width><t:Height>${height}</t:Height></t:Resolution>`
}

function profileOf(profile: OnvifProfile, element: string): string {
  const { token, encoding, rate } = profile
  const encoder = `<t:VideoEncoderConfiguration token="encoder-${token}"><t:Name>${token}</t:Name><t:UseCount>1</t:UseCount><t:Encoding>${encoding}</t:Encoding>${resolution(profile)}<t:RateControl><t:FrameRateLimit>${rate}</t:FrameRateLimit></t:RateControl></t:VideoEncoderConfiguration>`
  const ptz = '<t:PTZConfiguration token="ptz"><t:Name>ptz</t:Name><t:UseCount>1</t:UseCount></t:PTZConfiguration>'
  return `<m:${element} token="${token}" fixed="true"><t:Name>${token}</t:Name>${encoder}${ptz}</m:${element}>`
}

function utc(now: Date): string {
  const time = `<t:Time><t:Hour>${now.getUTCHours()}</t:Hour><t:Minute>${now.getUTCMinutes()}</t:Minute><t:Second>${now.getUTCSeconds()}</t:Second></t:Time>`
  const date = `<t:Date><t:Year>${now.getUTCFullYear()}</t:Year><t:Month>${now.getUTCMonth() + 1}</t:Month><t:Day>${now.getUTCDate()}</t:Day></t:Date>`
  return `<t:UTCDateTime>${time}${date}</t:UTCDateTime>`
}
