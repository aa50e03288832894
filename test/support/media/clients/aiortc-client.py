#!/usr/bin/python3
"""aiortc as a WHIP publisher or WHEP viewer: aiortc-client.py whip|whep URL TOKEN VP8|H264 SECONDS

Prints one line of JSON when it ends: the status of the answer, and how many pictures it sent or decoded. Needs: python3-aiortc
"""
import asyncio
import fractions
import json
import sys
import urllib.error
import urllib.request
from urllib.parse import urljoin

import av
import numpy
from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack

way, url, token, codec, seconds = sys.argv[1:6]
result = {'status': 0, 'pictures': 0, 'state': ''}


class Picture(VideoStreamTrack):
    """Stripes that move."""

    async def recv(self):
        pts, base = await self.next_timestamp()
        pixels = numpy.full((180, 320, 3), (result['pictures'] * 5) % 256, numpy.uint8)
        pixels[:, (result['pictures'] * 7) % 300:][:, :20] = 255
        frame = av.VideoFrame.from_ndarray(pixels, format='bgr24')
        frame.pts, frame.time_base = pts, base or fractions.Fraction(1, 90000)
        result['pictures'] += 1
        return frame


def ask(method, address, body=None):
    headers = {'Content-Type': 'application/sdp', 'Authorization': f'Bearer {token}'}
    request = urllib.request.Request(address, body and body.encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read().decode()


async def count(track):
    while True:
        await track.recv()
        result['pictures'] += 1


async def main():
    connection = RTCPeerConnection()
    counting = []
    if way == 'whip':
        transceiver = connection.addTransceiver(Picture(), direction='sendonly')
    else:
        transceiver = connection.addTransceiver('video', direction='recvonly')
        connection.on('track', lambda track: counting.append(asyncio.ensure_future(count(track))))
    capabilities = RTCRtpSender.getCapabilities('video').codecs
    transceiver.setCodecPreferences([each for each in capabilities if each.mimeType == f'video/{codec}'])
    await connection.setLocalDescription(await connection.createOffer())
    result['status'], headers, answer = await asyncio.to_thread(ask, 'POST', url, connection.localDescription.sdp)
    if result['status'] == 201:
        await connection.setRemoteDescription(RTCSessionDescription(answer, 'answer'))
        await asyncio.sleep(float(seconds))
        result['state'] = connection.connectionState
        result['goodbye'] = (await asyncio.to_thread(ask, 'DELETE', urljoin(url, headers['Location'])))[0]
    await connection.close()
    print(json.dumps(result), flush=True)


asyncio.run(main())
